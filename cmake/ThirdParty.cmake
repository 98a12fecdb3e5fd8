# Lets find_package see what ./dev setup put into the cache folder: the AWS Common Runtime and OpenVINO.
# Compiles nothing in: -DCMAKE_PREFIX_PATH=... or -DHEADROOM_CACHE=... points elsewhere. Finds nothing itself, so that
# a module which needs a library asks for it (find_package(aws-c-auth), find_package(OpenVINO COMPONENTS Runtime)).
if(NOT DEFINED HEADROOM_CACHE)
  if(DEFINED ENV{HEADROOM_CACHE})
    set(HEADROOM_CACHE "$ENV{HEADROOM_CACHE}")
  elseif(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(HEADROOM_CACHE "$ENV{XDG_CACHE_HOME}/headroom")
  else()
    set(HEADROOM_CACHE "$ENV{HOME}/.cache/headroom")
  endif()
endif()
set(HEADROOM_CACHE "${HEADROOM_CACHE}" CACHE PATH "Folder that ./dev setup fills")

set(HEADROOM_CRT_ROOT "${HEADROOM_CACHE}/crt-0.38.1")
set(HEADROOM_OPENVINO_ROOT "${HEADROOM_CACHE}/openvino-2026.4.1")
# Appended, so that a user's own CMAKE_PREFIX_PATH wins.
list(APPEND CMAKE_PREFIX_PATH "${HEADROOM_CRT_ROOT}" "${HEADROOM_OPENVINO_ROOT}")
if(NOT DEFINED OpenVINO_DIR AND EXISTS "${HEADROOM_OPENVINO_ROOT}/openvino/cmake/OpenVINOConfig.cmake")
  list(APPEND CMAKE_PREFIX_PATH "${HEADROOM_OPENVINO_ROOT}/openvino/cmake")
endif()
list(REMOVE_DUPLICATES CMAKE_PREFIX_PATH)

# The Common Runtime's packages would put libcrypto.so (aws-c-cal) and libcrypto.a (s2n) on one link line. Both take an
# existing AWS::crypto target as it is, so one that means the system's shared libcrypto settles it.
find_package(OpenSSL REQUIRED)
if(NOT TARGET AWS::crypto)
  add_library(AWS::crypto INTERFACE IMPORTED GLOBAL)
  set_target_properties(AWS::crypto PROPERTIES INTERFACE_LINK_LIBRARIES OpenSSL::Crypto)
endif()
